import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { folderIdOf, foldersOf, liesIn } from '../../../src/domain/workflow/folders.ts'

const path = fc
  .array(
    fc.string({ minLength: 1 }).filter((step) => !step.includes('/')),
    { minLength: 1, maxLength: 4 },
  )
  .map((steps) => steps.join('/'))

describe('folders', () => {
  test('are those that workflows name, and those above them, once', () => {
    expect(foldersOf(['sales/eu', 'sales', 'sales/us', 'it']).map(({ path: each }) => each)).toEqual([
      'it',
      'sales',
      'sales/eu',
      'sales/us',
    ])
  })

  test('have ids that can stand in a list with commas, the same ones every time', () => {
    fc.assert(
      fc.property(path, (each) => {
        expect(folderIdOf(each)).toMatch(/^fld_[0-9a-f]{16}$/)
        expect(foldersOf([each]).at(-1)).toEqual({ id: folderIdOf(each), path: each })
      }),
    )
    expect(folderIdOf('sales/eu')).toBe('fld_8a1a4e26bb5f4fa2')
  })

  test('hold what lies in them and below, and nothing with a similar name', () => {
    fc.assert(
      fc.property(path, path, (above, below) =>
        expect(liesIn(`${above}/${below}`, new Set([folderIdOf(above)]))).toBe(true),
      ),
    )
    const sales = new Set([folderIdOf('sales')])
    expect(liesIn('sales', sales)).toBe(true)
    expect(liesIn('salesforce', sales)).toBe(false)
    expect(liesIn('it/sales', sales)).toBe(false)
  })
})
