import type { BlockTypeFate } from '../../../src/sim/block-types.ts'

/** The rows of the table in the documentation. Types with the same result share a row. */
export function blockTypeTable(fates: Iterable<BlockTypeFate>): string[] {
  const rows = new Map<string, BlockTypeFate[]>()
  for (const fate of fates) {
    const key = `${fate.name} ${fate.fate} ${fate.to} ${fate.remark}`
    const same = rows.get(key)
    if (same) same.push(fate)
    else rows.set(key, [fate])
  }
  return Array.from(rows.values(), (same) => {
    const [{ name, fate, to = '', remark = '' }] = same as [BlockTypeFate]
    const types = same.map(({ type }) => `\`${type}\``).join(', ')
    const result =
      fate === 'placeholder'
        ? 'placeholder'
        : to.replaceAll(/[a-z_]+/g, (word) => (word === 'or' ? word : `\`${word}\``))
    const words = fate === 'placeholder' ? `Needs ${remark}.` : remark
    return `| ${types} | ${name} | ${result} | ${words} |`
  })
}
