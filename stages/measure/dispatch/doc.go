// Package dispatch sends the requests of one cell, either as a closed loop
// (each of n workers sends its next request when its last one has ended) or as
// an open loop (each request is sent at a planned instant, whatever became of
// the others).
//
// Neither loop interprets an answer: a failure is a result. What is needed to
// trust the numbers is counted here: when a request was planned and when it was
// really dispatched, how many were in flight, and for how long a worker had to
// wait for whoever writes the results down.
package dispatch
