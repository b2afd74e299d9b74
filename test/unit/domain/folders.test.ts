import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { folderIdOf, foldersOf, liesIn, movedFolder } from '../../../src/domain/workflow/folders.ts'

const path = fc
  .array(
    fc.string({ minLength: 1 }).filter((step) => !step.includes('/')),
    { minLength: 1, maxLength: 4 },
  )
  .map((steps) => steps.join('/'))

describe('folders', () => {
  test('include each folder that a workflow names and all its parents, once', () => {
    expect(foldersOf(['sales/eu', 'sales', 'sales/us', 'it']).map(({ path: each }) => each)).toEqual([
      'it',
      'sales',
      'sales/eu',
      'sales/us',
    ])
  })

  test('have stable IDs without commas', () => {
    fc.assert(
      fc.property(path, (each) => {
        expect(folderIdOf(each)).toMatch(/^fld_[0-9a-f]{16}$/)
        expect(foldersOf([each]).at(-1)).toEqual({ id: folderIdOf(each), path: each })
      }),
    )
    expect(folderIdOf('sales/eu')).toBe('fld_8a1a4e26bb5f4fa2')
  })

  test('contain their subfolders, but no folder with a similar name', () => {
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

test('a folder that moves takes its subfolders along', () => {
  expect(movedFolder('a', 'a', 'x/y')).toBe('x/y')
  expect(movedFolder('a/b/c', 'a/b', 'x')).toBe('x/c')
  expect(movedFolder('a/b', 'a', null)).toBe('b')
  expect(movedFolder('a', 'a', null)).toBe('')
})
