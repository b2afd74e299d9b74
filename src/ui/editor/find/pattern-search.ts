import { isWordCode, type Program } from './pattern.ts'

/** A match: its start and end, then those of each group; undefined for a group that took no part. */
export type Found = readonly (number | undefined)[]

/** The work that a search may still do. It is shared by all texts of one search. */
export type Budget = { steps: number }

/** Thrown when a search has used its budget. */
export class BudgetSpent extends Error {}

/**
 * Finds a program's matches in a text, leftmost first. All paths through the program advance together, one character at
 * a time, and no path is followed twice at the same character. So the work for one match is limited by the length of
 * the text times that of the program. Yields now and then, so that the caller can pause.
 */
export function* findInText(program: Program, text: string, budget: Budget, most: number): Generator<void, Found[]> {
  const found: Found[] = []
  let from = 0
  while (from <= text.length && found.length < most) {
    const match = yield* firstFrom(program, text, from, budget)
    if (!match) break
    const [start = 0, end = 0] = match
    // An empty match selects nothing.
    if (end > start) found.push(match)
    from = end > start ? end : end + 1
  }
  return found
}

type Path = { at: number; slots: Found }

function* firstFrom(program: Program, text: string, from: number, budget: Budget): Generator<void, Found | undefined> {
  let paths: Path[] = []
  let matched: Found | undefined
  const visited = new Int32Array(program.length).fill(-1)
  const follow = (list: Path[], start: number, slots: Found, position: number) => {
    const waiting: Path[] = [{ at: start, slots }]
    for (let path = waiting.pop(); path; path = waiting.pop()) {
      if (visited[path.at] === position) continue
      visited[path.at] = position
      budget.steps -= 1
      const step = program[path.at]!
      if (step.do === 'jump') waiting.push({ at: step.to, slots: path.slots })
      else if (step.do === 'split') {
        // The last one added is followed first.
        waiting.push({ at: step.second, slots: path.slots }, { at: step.first, slots: path.slots })
      } else if (step.do === 'save') {
        const saved = [...path.slots]
        saved[step.slot] = position
        waiting.push({ at: path.at + 1, slots: saved })
      } else if (step.do === 'assert') {
        if (holds(step.kind, text, position)) waiting.push({ at: path.at + 1, slots: path.slots })
      } else list.push(path)
    }
  }
  let pause = budget.steps - stepsPerPause
  for (let position = from; position <= text.length; position += 1) {
    // Paths that began earlier come first, so the leftmost match wins.
    if (!matched) follow(paths, 0, [], position)
    if (paths.length === 0 && matched) break
    const code = position < text.length ? text.charCodeAt(position) : -1
    const next: Path[] = []
    const now = paths
    for (const path of now) {
      budget.steps -= 1
      const step = program[path.at]!
      if (step.do === 'match') {
        matched = path.slots
        // The paths after this one are less preferred.
        break
      }
      if (step.do === 'char' && code !== -1 && step.test(code)) follow(next, path.at + 1, path.slots, position + 1)
    }
    paths = next
    if (budget.steps < 0) throw new BudgetSpent()
    if (budget.steps < pause) {
      pause = budget.steps - stepsPerPause
      yield
    }
  }
  return matched
}

/** A few milliseconds of work. */
const stepsPerPause = 5_000

function holds(kind: 'start' | 'end' | 'boundary' | 'inside', text: string, at: number): boolean {
  // A text is searched by lines.
  if (kind === 'start') return at === 0 || text[at - 1] === '\n'
  if (kind === 'end') return at === text.length || text[at] === '\n'
  const isBoundary = isWordAt(text, at - 1) !== isWordAt(text, at)
  return isBoundary === (kind === 'boundary')
}

function isWordAt(text: string, at: number): boolean {
  return at >= 0 && at < text.length && isWordCode(text.charCodeAt(at))
}
