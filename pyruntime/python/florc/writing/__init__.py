"""`florc.background`: a writer of histograms, images and scalars whose work is not done by the thread that trains."""
