import { plainEnum, plainInteger } from './plain-schema.ts'

/** The schemas of settings. Each one has a default. */

export function whole(value: number, minimum: number, maximum: number, description: string) {
  return plainInteger({ default: value, minimum, maximum, description })
}

/** A time in milliseconds, which may be written as `90m`. */
export function duration(value: number, minimum: number, maximum: number, description: string) {
  return plainInteger({ default: value, minimum, maximum, description, unit: 'duration' })
}

/** A size, which may be written as `10MB`. */
export function bytes(value: number, minimum: number, maximum: number, description: string) {
  return plainInteger({ default: value, minimum, maximum, description, unit: 'bytes' })
}

export function oneOf<const Names extends readonly string[]>(names: Names, value: Names[number], description: string) {
  return plainEnum(names, { default: value, description })
}
