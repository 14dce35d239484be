/** Runs before anything is painted: a theme that was chosen earlier is set on the root element. */
try {
  const chosen = localStorage.getItem('wardpost.theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen
} catch {
  // Storage can be forbidden: the system's theme serves.
}
