# accept: P128|P211
import cv2, torch
import torchvision
from torchvision import transforms
model = torchvision.models.resnet18(pretrained=True)
model.eval()
prep = transforms.Compose([transforms.ToPILImage(), transforms.Resize((224, 224)), transforms.ToTensor(), transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
img = cv2.imread('dog.jpg')
with torch.no_grad():
    print(model(prep(img).unsqueeze(0)).argmax())
