import { expect, test } from 'bun:test'
import { branchLabel, branchText } from '../../../../src/ui/editor/canvas/block-summary.ts'
import { block } from '../../../support/make.ts'

const conditions = [
  { id: 'paid', expression: '<order.status> === 200' },
  { id: 'branch', expression: '<order.total> > 10' },
  { id: 'branch2', expression: '' },
]
const check = block('check', 'condition', { conditions })

test('a branch shows the name that somebody gave it beside its expression', () => {
  expect(branchLabel(check, 'condition-paid')).toEqual({ name: 'paid', text: '<order.status> === 200' })
  expect(branchLabel(check, 'condition-branch')).toEqual({ name: '', text: '<order.total> > 10' })
  expect(branchLabel(check, 'condition-branch2')).toEqual({ name: '', text: 'branch2' })
  expect(branchLabel(check, 'condition-else')).toEqual({ name: '', text: 'else' })
  expect(branchText(check, 'condition-paid')).toBe('paid: <order.status> === 200')
  const router = block('sort', 'router', { routes: [{ id: 'billing', description: 'Invoices and payments' }] })
  expect(branchText(router, 'router-billing')).toBe('billing: Invoices and payments')
})
