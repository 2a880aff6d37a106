// Package fetch asks servers that hold models and images: https only, redirects
// followed one by one, credentials sent to nobody but the server they are for,
// answers bounded, failures that pass tried again in sight of the user.
//
// It is no client for endpoints that are measured: it tries again, and takes
// proxies from the environment.
package fetch
