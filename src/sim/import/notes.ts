import type { Note } from '../../domain/workflow/workflow.ts'
import { type SimBlock, textOf } from '../sim-document.ts'

const charsMax = 20_000
const colors = new Set(['yellow', 'green', 'blue', 'purple', 'red', 'gray'])

/** Converts a note block to notes on the canvas. A long text becomes several notes. */
export function notesOf(id: string, block: SimBlock): Note[] {
  const { values, position, data } = block
  const content = textOf(values.get('content'))
  const isUsualName = /^\s*(?:note\s*\d*)?\s*$/i.test(block.name)
  const text = isUsualName ? content : content === '' ? block.name : `${block.name}\n\n${content}`
  const color = textOf(values.get('color'))
  const size = { width: sizeOf(data['width']), height: sizeOf(data['height']) }
  const pieces = Math.max(1, Math.ceil(text.length / charsMax))
  return Array.from({ length: pieces }, (_, index) => ({
    id: index === 0 ? id : `${id.slice(0, 180)}-part-${index + 1}`,
    text: text.slice(index * charsMax, (index + 1) * charsMax),
    position: { x: position.x + 40 * index, y: position.y + 40 * index },
    ...(size.width === undefined ? {} : { width: size.width }),
    ...(size.height === undefined ? {} : { height: size.height }),
    ...(colors.has(color) ? { color: color as NonNullable<Note['color']> } : {}),
  }))
}

function sizeOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 1 && value <= 10_000 ? value : undefined
}
