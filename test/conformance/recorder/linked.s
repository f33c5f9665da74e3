// A function without a body, as in linked_1_36.go, is taken only beside assembly.
