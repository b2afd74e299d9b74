/** What `bun test` says of one test in its report. A hook that failed stands there as a test, too. */
export type Outcome = { file: string; name: string; result: 'passed' | 'failed' | 'skipped' }

/** Reads a JUnit report as `bun test` writes it; `undefined` when it is none, or broke off. */
export function readReport(text: string): Outcome[] | undefined {
  if (!text.trimEnd().endsWith('</testsuites>')) return undefined
  const outcomes: Outcome[] = []
  // The outermost suite is the file that was run, those in it are what the test's name begins with.
  const suites: string[] = []
  for (const [, ends, tag, attributes = ''] of text.matchAll(/<(\/?)(testsuite|testcase|failure|skipped)\b([^>]*)>/g)) {
    const latest = outcomes.at(-1)
    if (tag === 'testsuite' && ends) suites.pop()
    else if (tag === 'testsuite') suites.push(attribute(attributes, 'name'))
    else if (tag === 'testcase' && !ends) {
      const [file = '', ...groups] = suites
      outcomes.push({ file, name: [...groups, attribute(attributes, 'name')].join(' > '), result: 'passed' })
    } else if (latest && !ends && tag === 'failure') latest.result = 'failed'
    else if (latest && !ends && tag === 'skipped') latest.result = 'skipped'
  }
  return outcomes
}

function attribute(text: string, name: string): string {
  return plain(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? '')
}

const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function plain(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name = '') =>
    code ? String.fromCodePoint(Number(code)) : (named[name] ?? whole),
  )
}
