"""Records of any protobuf message, by its descriptor."""
