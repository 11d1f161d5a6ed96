package mlp

func use(unit bool) { vector = unit }
