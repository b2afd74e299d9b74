import { createContext, useEffect, useState } from 'react'
import { remember, remembered } from '../../shell/browser-memory.ts'

const storageKey = 'millrace.known-blocks'

/** Whether this is the first time that the settings of a type of block are open. Then the help of fields is visible. */
export const FirstLook = createContext(false)

/** Finds out and remembers that the settings of a type have been seen in this browser. */
export function useFirstLook(type: string): boolean {
  const [isFirst] = useState(() => !knownTypes().includes(type))
  useEffect(() => {
    const known = knownTypes()
    if (!known.includes(type)) remember(storageKey, [...known, type].slice(-typesMax).join())
  }, [type])
  return isFirst
}

const typesMax = 100

function knownTypes(): string[] {
  return (remembered(storageKey) ?? '').split(',')
}
