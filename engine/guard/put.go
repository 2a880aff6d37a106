package guard

import (
	"fmt"
	"reflect"
	"slices"
)

// Put returns a copy of vars with some of the numbers that the rule names put to
// others, by path: what the rule would be evaluated on if these had been measured. Each
// must be there already.
func (p *Program) Put(vars any, numbers map[string]float64) (any, error) {
	root, err := p.accept(vars)
	if err != nil {
		return nil, err
	}
	dup := reflect.New(root.Type()).Elem()
	dup.Set(root)
	for path, x := range numbers {
		i := slices.IndexFunc(p.paths, func(f *field) bool { return f.path == path && f.kind == number && !f.parent.open })
		if i < 0 || !p.paths[i].present(root) {
			return nil, fmt.Errorf("%s is no number that the rule names and that is there", path)
		}
		p.paths[i].setFloat(dup, x)
	}
	return dup.Interface(), nil
}
