/** How the whole canvas is brought into view. */
export const fitOptions = { padding: 0.1, maxZoom: 1, duration: 200 }
