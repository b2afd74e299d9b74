import { createContext, useContext } from 'react'

/** The id of the block that the inspector shows. */
export const Inspected = createContext<string | undefined>(undefined)

export function useInspected(): string | undefined {
  return useContext(Inspected)
}
