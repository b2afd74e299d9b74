/**
 * Distinguishes crashes that a job may have caused from crashes with another cause. Each time a job resumes after a
 * crash, it records a mark with the number of its crashes so far among its steps. A block that is recorded after a mark
 * shows that the job made progress after those crashes.
 */

/** After this many crashes without progress, the job itself is assumed to cause them. */
const crashesMax = 3

/** The step to record when a job with these steps resumes after `crashes` crashes; undefined when it is recorded. */
export function crashMark(steps: readonly string[], crashes: number): string | undefined {
  return crashes > lastMark(steps) ? `${markStart}${crashes}}` : undefined
}

/** Whether a job crashed too often since a block of it was last recorded. */
export function isStuck(steps: readonly string[], crashes: number): boolean {
  if (crashes < crashesMax) return false
  let marked = 0
  let withProgress = 0
  for (const step of steps) {
    if (isMark(step)) marked = crashesIn(step)
    else if ('block' in JSON.parse(step)) withProgress = marked
  }
  return crashes - withProgress >= crashesMax
}

/** This format is on disk, so it must stay readable. */
const markStart = '{"crashes":'

export function isMark(step: string): boolean {
  return step.startsWith(markStart)
}

function lastMark(steps: readonly string[]): number {
  const last = steps.findLast(isMark)
  return last === undefined ? 0 : crashesIn(last)
}

function crashesIn(mark: string): number {
  return Number(mark.slice(markStart.length, -1))
}
