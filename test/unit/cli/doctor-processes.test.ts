import { expect, test } from 'bun:test'
import { examineProcesses } from '../../../src/cli/doctor/processes.ts'
import type { ProcessRow } from '../../../src/store/process-store.ts'

const now = 1_800_000_000_000
const hourMs = 3_600_000
const rowOf = (more: Partial<ProcessRow>): ProcessRow => ({
  ...{ id: 'p', url: 'http://127.0.0.1:3000', host: 'one', pid: 7, version: '1.0.0' },
  ...{ startedAt: now - 5 * hourMs, heartbeatAt: now, isGone: false, isLeader: false, isDraining: false },
  keyHead: null,
  holds: { runs: 0, jobs: 0, deliveries: 0, schedules: 0 },
  ...more,
})

test('all is well with processes of one version, and with none', () => {
  expect(examineProcesses([], now)).toMatchObject([{ state: 'ok' }])
  const found = examineProcesses([rowOf({ isLeader: true }), rowOf({ host: 'two', isDraining: true })], now)
  const message = '2 processes: process 7 on one (1.0.0, leader); process 7 on two (1.0.0, draining).'
  expect(found).toEqual([{ check: 'processes', state: 'ok', message }])
})

test('different versions are normal during an upgrade, and a warning after an hour', () => {
  const during = [rowOf({}), rowOf({ version: '1.1.0', startedAt: now - hourMs + 1 })]
  expect(examineProcesses(during, now)).toHaveLength(1)
  const after = [rowOf({}), rowOf({ version: '1.1.0', startedAt: now - hourMs })]
  expect(examineProcesses(after, now)[1]).toMatchObject({ state: 'warning', message: expect.stringContaining('1.1.0') })
})

test('a process without a sign of life is a warning', () => {
  const found = examineProcesses([rowOf({}), rowOf({ host: 'lost', isGone: true, version: '0.9.0' })], now)
  expect(found).toMatchObject([{ state: 'ok' }, { state: 'warning', message: expect.stringContaining('on lost') }])
})
