// Package judge holds what a model that scores answers is asked, how its reply
// is read, and how far it agrees with people. It is pure: what sends the
// requests is stages/measure.
package judge
