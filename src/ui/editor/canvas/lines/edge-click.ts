import { createContext } from 'react'

/** Offers blocks to insert into a connection, next to the clicked element. */
export const EdgeClick = createContext<(edgeId: string, element: HTMLElement) => void>(() => undefined)
