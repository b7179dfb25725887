"""Rules on what is given to a trained model: the order, scale and shape of inputs, and what is made of its output."""
