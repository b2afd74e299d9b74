const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** A rounded size: `1.2 GB`, 1024-based. `sizeText` of config.ts is exact. */
export function roundSize(bytes: number): string {
  let size = bytes
  let unit = 0
  for (; size >= 1024 && unit < units.length - 1; unit += 1) size /= 1024
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`
}

/** `1 file`, `2 files`. */
export function count(number: number, thing: string, things = `${thing}s`): string {
  return `${number} ${number === 1 ? thing : things}`
}
