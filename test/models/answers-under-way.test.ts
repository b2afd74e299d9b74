import { expect, test } from 'bun:test'
import { AnswersUnderWay } from '../../src/models/answers-under-way.ts'

function counted() {
  let collections = 0
  const answers = new AnswersUnderWay(() => {
    collections += 1
  })
  const times = (count: number, what: () => void) => {
    for (let each = 0; each < count; each += 1) what()
  }
  return {
    begin: (count: number) => times(count, () => answers.begin()),
    end: (count: number) => times(count, () => answers.end()),
    collections: () => collections,
  }
}

test('garbage is collected once for each 250 answers that come on top', () => {
  const { begin, collections } = counted()
  begin(249)
  expect(collections()).toBe(0)
  begin(1)
  expect(collections()).toBe(1)
  begin(1_750)
  expect(collections()).toBe(8)
})

test('answers that come and go have nothing collected, however many they are', () => {
  const { begin, end, collections } = counted()
  begin(550)
  expect(collections()).toBe(2)
  for (let turn = 0; turn < 1_000; turn += 1) {
    end(40)
    begin(40)
  }
  expect(collections()).toBe(2)
})

test('many that begin after many have ended have garbage collected again', () => {
  const { begin, end, collections } = counted()
  begin(1_000)
  end(1_000)
  expect(collections()).toBe(4)
  begin(1_000)
  expect(collections()).toBeGreaterThanOrEqual(7)
})
