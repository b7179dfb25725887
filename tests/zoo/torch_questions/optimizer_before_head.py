# accept: P117
import torch, torchvision
def build(classes):
    net = torchvision.models.mobilenet_v2(weights="DEFAULT")
    opt = torch.optim.Adam(net.parameters(), 1e-4)
    net.classifier[1] = torch.nn.Linear(1280, classes)
    return net, opt
