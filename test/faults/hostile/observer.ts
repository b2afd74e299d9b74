/**
 * Polls an address every 20 ms from a process of its own: `bun observer.ts <url>`. A line on standard input ends a
 * period: the observer prints the longest wait in milliseconds, and starts again.
 */
const everyMs = 20
const [url = ''] = process.argv.slice(2)
/** When the requests without a response started. */
const pending = new Set<number>()
let longest = 0

async function poll(): Promise<void> {
  const startedAt = performance.now()
  pending.add(startedAt)
  try {
    const response = await fetch(url)
    await response.arrayBuffer()
  } catch {
    // A refused connection counts as the time that it took.
  }
  pending.delete(startedAt)
  note(startedAt)
}

function note(startedAt: number): void {
  longest = Math.max(longest, performance.now() - startedAt)
}

setInterval(() => void poll(), everyMs)

for await (const _line of console) {
  // A request that has no response yet counts with the time that it has waited so far.
  for (const startedAt of pending) note(startedAt)
  console.log(Math.round(longest))
  longest = 0
}

export {}
