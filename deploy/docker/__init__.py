"""What the image is made of, besides the Dockerfile."""
