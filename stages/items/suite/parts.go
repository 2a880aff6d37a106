package suite

import (
	"crypto/sha256"
	"path/filepath"

	"github.com/cupel-dev/cupel/engine/step"
)

func createParts(dir string, recipients []string) (*parts, error) {
	p := &parts{scorers: map[string]bool{}}
	var err error
	if p.dev, err = create(filepath.Join(dir, ItemsFile)); err != nil {
		return nil, err
	}
	if p.index, err = create(filepath.Join(dir, IndexFile)); err != nil {
		return nil, err
	}
	if p.cipher, err = create(filepath.Join(dir, SealedFile)); err != nil {
		return nil, err
	}
	if p.age, err = seal(p.cipher, recipients); err != nil {
		return nil, err
	}
	p.plain = &tally{p.age, sha256.New()}
	return p, nil
}

// finish ends the files and puts their digests into sp.
func (p *parts) finish(sp *Split) (err error) {
	if err := p.age.Close(); err != nil {
		return err
	}
	sp.HeldOut.SHA256 = step.Digest(p.plain.sum.Sum(nil))
	if sp.HeldOut.Encrypted, err = p.cipher.close(); err != nil {
		return err
	}
	if sp.HeldOut.IndexSum, err = p.index.close(); err != nil {
		return err
	}
	sp.Development.SHA256, err = p.dev.close()
	return err
}

// abandon gives files back that finish did not; closing twice does no harm.
func (p *parts) abandon() {
	for _, h := range []*hashed{p.dev, p.index, p.cipher} {
		h.f.Close()
	}
}
