import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { backupName, parseBackupName, parseBucketAddress } from '../../../src/backup/bucket-address.ts'

test('an address names a bucket, a path and perhaps one backup', () => {
  expect(parseBucketAddress('s3://backups')).toEqual({ bucket: 'backups', prefix: '', name: undefined })
  expect(parseBucketAddress('s3://backups/')).toEqual({ bucket: 'backups', prefix: '', name: undefined })
  expect(parseBucketAddress('s3://my.bucket-1/a//b/')).toEqual({
    bucket: 'my.bucket-1',
    prefix: 'a/b/',
    name: undefined,
  })
  for (const name of ['millrace-2026-11-23T21-00-00Z-0123abcd-7b21d0c4.tar', 'millrace-2026-11-23T21-00-00Z.tar'])
    expect(parseBucketAddress(`s3://backups/a/${name}`)).toEqual({ bucket: 'backups', prefix: 'a/', name })
})

test('other texts are not addresses', () => {
  for (const text of [
    '',
    's3:',
    's3://',
    's3:///a',
    's3://A_B',
    's3://ab',
    'https://s3/b',
    's3://bucket/a b',
    's3://-bucket',
  ])
    expect(parseBucketAddress(text)).toBeUndefined()
})

test('the name of a backup has its time in seconds and its installation, and names sort by time', () => {
  const installation = '0123abcd'
  const parse = parseBackupName
  const named = (at: number) => backupName(at * 1000, installation)
  const second = fc.integer({ min: 0, max: 253_402_300_799 })
  fc.assert(fc.property(second, (at) => expect(parse(named(at))).toEqual({ at: at * 1000, installation })))
  fc.assert(fc.property(second, second, (a, b) => a === b || a < b === named(a) < named(b)))
})

test('two backups of the same second have different names', () => {
  const at = Date.now()
  expect(backupName(at, '0123abcd')).not.toBe(backupName(at, '0123abcd'))
})

test('names of other files have no time', () => {
  fc.assert(fc.property(fc.string(), (name) => parseBackupName(name) === undefined))
  expect(parseBackupName('millrace-2026-13-45T99-00-00Z.tar')).toBeUndefined()
  expect(parseBackupName('a/millrace-2026-11-23T21-00-00Z.tar')).toBeUndefined()
})
