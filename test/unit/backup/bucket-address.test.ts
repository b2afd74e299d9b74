import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { backupName, backupTime, parseBucketAddress } from '../../../src/backup/bucket-address.ts'

test('an address names a bucket, a path and perhaps one backup', () => {
  expect(parseBucketAddress('s3://backups')).toEqual({ bucket: 'backups', prefix: '', name: undefined })
  expect(parseBucketAddress('s3://backups/')).toEqual({ bucket: 'backups', prefix: '', name: undefined })
  expect(parseBucketAddress('s3://my.bucket-1/a//b/')).toEqual({
    bucket: 'my.bucket-1',
    prefix: 'a/b/',
    name: undefined,
  })
  const name = 'millrace-2026-11-23T21-00-00Z.tar'
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

test('the name of a backup has its time in seconds, and names sort by time', () => {
  const second = fc.integer({ min: 0, max: 253_402_300_799 })
  fc.assert(fc.property(second, (at) => backupTime(backupName(at * 1000)) === at * 1000))
  fc.assert(fc.property(second, second, (a, b) => a < b === backupName(a * 1000) < backupName(b * 1000)))
})

test('names of other files have no time', () => {
  fc.assert(fc.property(fc.string(), (name) => backupTime(name) === undefined))
  expect(backupTime('millrace-2026-13-45T99-00-00Z.tar')).toBeUndefined()
  expect(backupTime('a/millrace-2026-11-23T21-00-00Z.tar')).toBeUndefined()
})
