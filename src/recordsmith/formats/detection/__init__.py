"""Images with boxes, masks and keypoints: COCO, Pascal VOC, YOLO, and masks next to images."""
