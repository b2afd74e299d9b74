import '../../../src/sandbox/worker.ts'

/** A real worker whose clock does not move: it never reaches a deadline, and never posts outcomes early. */
performance.now = () => 0
