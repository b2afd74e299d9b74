import { describe, expect, test } from 'bun:test'
import { bytesText, costText, countOf, shortCount } from '../../../src/ui/parts/amount-text.ts'
import { agoText, durationText } from '../../../src/ui/parts/time-text.ts'

describe('texts', () => {
  test('durations have at most three significant digits', () => {
    const cases: [number, string][] = [
      ...([
        [0, '0 ms'],
        [0.04, '0 ms'],
        [0.44, '0.4 ms'],
        [12.4, '12 ms'],
        [999, '999 ms'],
        [999.9, '1 s'],
        [1_240, '1.24 s'],
        [12_345, '12.3 s'],
        [59_949, '59.9 s'],
        [60_000, '1 min'],
        [123_000, '2 min 3 s'],
        [3_600_000, '1 h'],
        [3_899_000, '1 h 5 min'],
        [90_000_000, '1 d 1 h'],
      ] as [number, string][]),
    ]
    expect(cases.map(([ms]) => durationText(ms))).toEqual(cases.map(([, text]) => text))
  })

  test('times are relative, in the past and in the future', () => {
    const now = Date.UTC(2025, 5, 1)
    const ago = (ms: number) => agoText(now - ms, now)
    expect([0, 4_999, 5_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_400_000].map(ago)).toEqual([
      'now',
      'now',
      '5 s ago',
      '59 s ago',
      '1 min ago',
      '59 min ago',
      '1 h ago',
      '1 d ago',
    ])
    expect(ago(-90_000)).toBe('in 1 min')
    expect(ago(40 * 86_400_000)).toContain('2025')
  })

  test('small amounts of money have more digits', () => {
    expect([0, 1e-9, 0.000_331, 0.0012, 0.099, 0.1, 1.2, 999.994, 1_204.4].map(costText)).toEqual([
      '$0',
      '< $0.000001',
      '$0.00033',
      '$0.0012',
      '$0.099',
      '$0.10',
      '$1.20',
      '$999.99',
      '$1,204',
    ])
  })

  test('sizes and counts have units', () => {
    expect([0, 1, 1_023, 1_024, 1_300, 1_048_576, 75 * 2 ** 30].map(bytesText)).toEqual([
      '0 bytes',
      '1 byte',
      '1023 bytes',
      '1 KB',
      '1.3 KB',
      '1 MB',
      '75 GB',
    ])
    expect([countOf(1, 'run'), countOf(1_200, 'run'), countOf(2, 'entry', 'entries')]).toEqual([
      '1 run',
      '1,200 runs',
      '2 entries',
    ])
    expect([999, 1_234, 5_100_000].map(shortCount)).toEqual(['999', '1.2K', '5.1M'])
  })
})
