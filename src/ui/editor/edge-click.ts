import { createContext } from 'react'

/** Offers blocks to put into a connection, at the element that was clicked. */
export const EdgeClick = createContext<(edgeId: string, element: HTMLElement) => void>(() => undefined)
