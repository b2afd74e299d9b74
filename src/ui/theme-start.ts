/**
 * Runs before the first paint, so that the page never flashes the wrong theme. `theme.ts` stores the choice. Without
 * one, the system preference applies.
 */
function startTheme(): void {
  try {
    const chosen = localStorage.getItem('millrace.theme')
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen
  } catch {
    // Without storage, the system preference applies.
  }
}

startTheme()
