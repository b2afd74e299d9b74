/** Keeps a text in this browser; where storage is switched off it is simply forgotten. */
export function remember(key: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    // Nothing depends on it.
  }
}

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}
