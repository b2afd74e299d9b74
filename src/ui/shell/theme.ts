import { remember } from './browser-memory.ts'

export type Theme = 'system' | 'light' | 'dark'

/** Stored in the browser. `theme-start.ts` reads it before the first paint. */
const storageKey = 'millrace.theme'

export function chosenTheme(): Theme {
  const chosen = document.documentElement.dataset['theme']
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  remember(storageKey, theme === 'system' ? null : theme)
}
