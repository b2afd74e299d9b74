import { differenceLines, type FileReport } from './report.ts'

/** The results as JUnit XML, which services for continuous integration read. One suite for each file. */
export function junitXml(reports: readonly FileReport[], durationMs: number): string {
  const suites = reports.map(suiteXml)
  const all = { tests: sumOf(suites, 'tests'), failures: sumOf(suites, 'failures'), errors: sumOf(suites, 'errors') }
  const root = tag('testsuites', { name: 'millrace test', ...all, time: seconds(durationMs) })
  return ['<?xml version="1.0" encoding="UTF-8"?>', root, ...suites.map(({ xml }) => xml), '</testsuites>', ''].join(
    '\n',
  )
}

type Suite = { xml: string; tests: number; failures: number; errors: number }

function suiteXml({ file, error, results }: FileReport): Suite {
  const cases = results.map(({ name, status, durationMs, differences }) => {
    const head = tag('testcase', { name, classname: file, time: seconds(durationMs) }, status === 'passed')
    if (status === 'passed') return head
    const message = differences[0]?.message ?? ''
    const text = textXml(differences.flatMap(differenceLines).join('\n'))
    return `${head}${tag('failure', { type: status, message })}${text}</failure></testcase>`
  })
  if (error !== null) {
    const head = tag('testcase', { name: 'reading the tests', classname: file, time: '0.000' })
    cases.push(`${head}${tag('error', { type: 'file', message: error })}</error></testcase>`)
  }
  const failures = results.filter(({ status }) => status !== 'passed').length
  const errors = error === null ? 0 : 1
  const time = seconds(results.reduce((sum, { durationMs }) => sum + durationMs, 0))
  const head = tag('testsuite', { name: file, tests: cases.length, failures, errors, skipped: 0, time })
  return { xml: [head, ...cases, '</testsuite>'].join('\n'), tests: cases.length, failures, errors }
}

function tag(name: string, attributes: Readonly<Record<string, string | number>>, isEmpty = false): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
  return `<${name}${written.join('')}${isEmpty ? '/' : ''}>`
}

function sumOf(suites: readonly Suite[], member: 'tests' | 'failures' | 'errors'): number {
  return suites.reduce((sum, suite) => sum + suite[member], 0)
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3)
}

/** The value of an attribute. Line breaks in it must be escaped. */
function escaped(text: string): string {
  return textXml(text).replaceAll(/["\n\r\t]/g, (each) => (each === '"' ? '&quot;' : `&#${each.charCodeAt(0)};`))
}

/** Text for XML 1.0. Characters that it cannot contain, not even escaped, become replacement characters. */
function textXml(text: string): string {
  const possible = text.toWellFormed().replaceAll(forbidden, '\uFFFD')
  return possible.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

const forbidden = /(?![\t\n\r])[\p{Cc}\uFFFE\uFFFF]/gu
