package feature

func use(unit bool) { vector = unit }
