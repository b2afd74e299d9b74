import { expect, test } from 'bun:test'
import { initialsOf } from '../../../../src/ui/editor/together/person-mark.tsx'
import { peopleOf } from '../../../../src/ui/editor/together/together.ts'

const editor = (editorId: string, userId: string, blockId: string | null = null) => ({
  ...{ editorId, userId, email: `${userId}@example.org`, blockId },
})

test('several tabs of an account are one person, and this tab is nobody', () => {
  const editors = [editor('1', 'ada', 'a'), editor('2', 'bob', 'b'), editor('3', 'bob', 'c'), editor('4', 'bob', 'c')]
  expect(peopleOf(editors, '1', 'ada').people).toEqual([
    { userId: 'bob', email: 'bob@example.org', isMe: false, blockIds: ['b', 'c'] },
  ])
  const { people, byBlock } = peopleOf(editors, '3', 'bob')
  expect(people.map(({ userId, isMe }) => [userId, isMe])).toEqual([
    ['ada', false],
    ['bob', true],
  ])
  expect([...byBlock].map(([id, at]) => [id, at.map(({ userId }) => userId)])).toEqual([
    ['a', ['ada']],
    ['b', ['bob']],
    ['c', ['bob']],
  ])
})

test('initials come from the name before the @', () => {
  const emails = ['ada.lovelace@example.org', 'ada@example.org', 'é@example.org', '@', '']
  expect(emails.map(initialsOf)).toEqual(['AL', 'AD', 'É', '?', '?'])
})
