/** The outcome of one test in the report of `bun test`. A hook that failed has an outcome, too. */
export type Outcome = { file: string; name: string; result: 'passed' | 'failed' | 'skipped' }

/** Reads a JUnit report that `bun test` wrote. Returns `undefined` when the text is not a complete report. */
export function readReport(text: string): Outcome[] | undefined {
  if (!text.trimEnd().endsWith('</testsuites>')) return undefined
  const outcomes: Outcome[] = []
  // The outermost suite is the test file; the names of the suites inside it begin the name of the test.
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
  return unescapeXml(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? '')
}

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function unescapeXml(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name = '') =>
    code ? String.fromCodePoint(Number(code)) : (entities[name] ?? whole),
  )
}
