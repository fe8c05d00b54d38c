// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"net/http"
	"strings"
)

// Router finds a handler by the exact path. It never redirects and never cleans a path: the API
// server follows a redirect with a GET, and the review would be lost. Paths are compared as they
// were sent, still escaped. Register everything before the first request.
type Router struct {
	exact  map[string]http.Handler
	prefix map[string]http.Handler
}

// Handle serves exactly path. It panics if the path is not one that a request can
// name, or taken.
func (r *Router) Handle(path string, h http.Handler) {
	r.exact = register(r.exact, path, h)
}

// HandlePrefix serves path and everything below it that no longer path claims. It panics as Handle
// does.
func (r *Router) HandlePrefix(path string, h http.Handler) {
	r.prefix = register(r.prefix, path, h)
}

func register(handlers map[string]http.Handler, path string, h http.Handler) map[string]http.Handler {
	if odd(path) || strings.HasSuffix(path, "/") {
		panic("admission: " + path + " is no path that a request can name")
	}
	if handlers[path] != nil {
		panic("admission: path " + path + " has a handler already")
	}
	if handlers == nil {
		handlers = map[string]http.Handler{}
	}
	handlers[path] = h
	return handlers
}

// ServeHTTP answers 404 to a path that nobody registered.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if h := r.find(req.URL.EscapedPath()); h != nil {
		h.ServeHTTP(w, req)
		return
	}
	http.Error(w, "injector: nothing is served at this path", http.StatusNotFound)
}

func (r *Router) find(path string) http.Handler {
	if h := r.exact[path]; h != nil {
		return h
	}
	if h := r.prefix[path]; h != nil {
		return h
	}
	if odd(path) {
		return nil
	}
	for parent := path; parent != ""; {
		parent = parent[:strings.LastIndexByte(parent, '/')]
		if h := r.prefix[parent]; h != nil {
			return h
		}
	}
	return nil
}

// odd tells whether a path has an empty or a dot segment, or does not begin with a slash.
func odd(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.Contains(path, "//") {
		return true
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}
