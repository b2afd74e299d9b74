import { expect, test } from 'bun:test'
import { safeName } from '../../../src/domain/run/file.ts'

test.each([
  ['report.pdf', 'report.pdf'],
  ['résumé.pdf', 'resume.pdf'],
  ['日本語の報告.xlsx', 'file.xlsx'],
  ['données 2025.tar.gz', 'donnees_2025.tar.gz'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\fakepath\\a b.txt', 'a_b.txt'],
  ['.bashrc', 'bashrc'],
  ['..', 'file'],
  ['', 'file'],
  ['a".html\r\nX: 1', 'a_.html_X_1'],
  [`${'x'.repeat(300)}.jpeg`, `${'x'.repeat(115)}.jpeg`],
])('the file name %p is stored as %p', (name, safe) => {
  expect(safeName(name)).toBe(safe)
})
