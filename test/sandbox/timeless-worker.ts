import '../../src/sandbox/worker.ts'

/** A real worker whose clock stands still: deadlines never come for it, and it never finds that it should report. */
performance.now = () => 0
