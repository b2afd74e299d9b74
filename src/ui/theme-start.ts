/**
 * Runs before anything is drawn, so that a chosen theme never flashes the other one. `theme.ts` keeps the choice; with
 * none the system's preference holds.
 */
function startTheme(): void {
  try {
    const chosen = localStorage.getItem('millrace.theme')
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen
  } catch {
    // Storage that is switched off means that nothing was chosen.
  }
}

startTheme()
