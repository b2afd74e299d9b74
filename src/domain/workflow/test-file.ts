import type { ErrorDetail } from '../errors.ts'
import { isObject } from '../run/input.ts'
import { findValidationErrors } from './shape.ts'
import { anyTypes } from './test-comparison.ts'
import { TestFile, testsMax, type WorkflowTest } from './workflow-test.ts'

/** The tests of a file, or all its problems. `path` names the place, such as `tests[2].mocks[0].response`. */
export function readTestFile(value: unknown): { file: TestFile } | { details: ErrorDetail[] } {
  if (!isObject(value)) return { details: [{ path: '', message: 'A test file must have an object with "tests".' }] }
  const shape = findValidationErrors(TestFile, value)
  if (shape.length > 0) return { details: shape }
  const file = value as TestFile
  const details = testProblems(file.tests)
  return details.length > 0 ? { details } : { file }
}

/** The problems of tests that have the right shape. */
export function testProblems(tests: readonly WorkflowTest[]): ErrorDetail[] {
  if (tests.length > testsMax) {
    return [{ path: 'tests', message: `A workflow may have at most ${testsMax} tests, not ${tests.length}.` }]
  }
  const names = new Set<string>()
  return tests.flatMap((test, index) => {
    const at = `tests[${index}]`
    const found = problemsOf(test, at)
    if (names.has(test.name)) {
      const message = `Two tests are called "${test.name}". Each test needs a name of its own.`
      found.push({ path: `${at}.name`, message })
    }
    names.add(test.name)
    return found
  })
}

function problemsOf(test: WorkflowTest, at: string): ErrorDetail[] {
  const details: ErrorDetail[] = []
  const add = (path: string, message: string) =>
    details.push({ path: `${at}.${path}`, message: `${at}.${path} ${message}` })
  if (test.now !== undefined && Number.isNaN(Date.parse(test.now))) {
    add('now', 'must be a time, such as "2026-01-31T09:00:00Z".')
  }
  for (const [index, { block, request, response, output }] of (test.mocks ?? []).entries()) {
    const here = `mocks[${index}]`
    if ((response === undefined) === (output === undefined)) {
      add(here, 'must have either "response", the answer to a request, or "output", the outputs of a block.')
    } else if (output !== undefined && block === undefined) {
      add(here, 'must name the block that has this output: "block".')
    } else if (output !== undefined && request !== undefined) {
      add(here, 'cannot have both "request" and "output": a block with an output does not run, and sends nothing.')
    } else if (response !== undefined && block === undefined && request?.url === undefined) {
      add(here, 'must say which requests it answers: "block", "request": { "method", "url" }, or both.')
    } else if (response !== undefined && (response.status < 200 || response.status > 599)) {
      add(`${here}.response.status`, 'must be from 200 to 599.')
    }
  }
  const matchers: ErrorDetail[] = []
  matcherProblems(test.expect.output, `${at}.expect.output`, matchers)
  matcherProblems(test.expect.calls, `${at}.expect.calls`, matchers)
  return [...details, ...matchers]
}

/** Finds matchers that could never match. An object with other members beside is plain data. */
function matcherProblems(expected: unknown, path: string, details: ErrorDetail[]): void {
  if (details.length >= problemsMax) return
  if (Array.isArray(expected)) {
    for (const [index, item] of expected.entries()) matcherProblems(item, `${path}[${index}]`, details)
    return
  }
  if (!isObject(expected)) return
  const entries = Object.entries(expected)
  const [name, value] = entries[0] ?? []
  if (entries.length === 1 && name === '$any') {
    if (!anyTypes.some((type) => type === value)) {
      details.push({ path, message: `${path}: "$any" must be one of: ${anyTypes.join(', ')}.` })
    }
  } else if (entries.length === 1 && name === '$match') {
    const problem = patternProblem(value)
    if (problem) details.push({ path, message: `${path}: "$match" ${problem}` })
  } else for (const [member, inner] of entries) matcherProblems(inner, `${path}.${member}`, details)
}

/** Patterns are only read here. They run in the sandbox. */
function patternProblem(pattern: unknown): string | undefined {
  if (typeof pattern !== 'string') return 'must be a regular expression as text.'
  if (pattern.length > patternCharsMax) return `may have at most ${patternCharsMax} characters.`
  try {
    new RegExp(pattern, 'u')
    return undefined
  } catch {
    return `is not a regular expression: ${pattern.slice(0, 100)}`
  }
}

const patternCharsMax = 1_000
const problemsMax = 20
