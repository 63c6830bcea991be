"""`once`: effects, how their results are recorded, and claims that hold across replicas."""
