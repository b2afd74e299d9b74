/** Options for fitting the whole workflow into view. */
export const fitOptions = { padding: 0.1, maxZoom: 1, duration: 200 }
