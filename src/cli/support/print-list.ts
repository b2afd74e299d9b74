import type { Call } from '../command.ts'
import { table } from './help.ts'

type Texts<Item> = {
  /** The two columns of an item. */
  line(item: Item): readonly [string, string]
  /** An item in JSON, by default as it is. */
  data?(item: Item): unknown
  /** A message for people when the list is empty. */
  none?: string
}

/** Prints a list: a table, or one JSON document with `--json`. */
export function printList<Item>(
  { json, terminal }: Pick<Call, 'json' | 'terminal'>,
  items: readonly Item[],
  { line, data = (item) => item, none }: Texts<Item>,
): void {
  if (json) terminal.print(JSON.stringify(items.map(data), null, 2))
  else if (items.length === 0 && none !== undefined) terminal.say(none)
  else terminal.print(table(items.map(line)).join('\n'))
}
