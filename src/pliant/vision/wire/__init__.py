"""Camera images in mapped files: the layout."""
