// What `npm test` counts (types in test-tally.d.mts). Pure: reports in, numbers out.

export function tallyVitest(report, exitCode) {
  if (report === undefined) {
    return {passed: 0, failed: 1, notes: ['vitest ended without a report: it was killed, or could not start']}
  }
  const notes = []
  // A file that fails to load, or in a hook, has no failed test of its own.
  const brokenFiles = report.testResults.filter(
    file => file.status === 'failed' && !file.assertionResults.some(test => test.status === 'failed'),
  )
  for (const file of brokenFiles) notes.push(`${file.name} failed outside of its tests`)
  let failed = report.numFailedTests + brokenFiles.length
  if (failed === 0 && report.numPassedTests === 0) {
    failed = 1
    notes.push('no test was executed')
  }
  if (failed === 0 && exitCode !== 0) {
    failed = 1
    notes.push(`vitest exited with ${exitCode} although no test failed: an error outside of the tests`)
  }
  return {passed: report.numPassedTests, failed, notes}
}

export function tallyCommand(exitCode) {
  return exitCode === 0 ? {passed: 1, failed: 0, notes: []} : {passed: 0, failed: 1, notes: []}
}

export function tallyNotRun(what, why, isCi) {
  return {passed: 0, failed: isCi ? 1 : 0, notes: [`not run: ${what}, because ${why}`]}
}

export function sum(tallies) {
  const passed = tallies.reduce((total, tally) => total + tally.passed, 0)
  const failed = tallies.reduce((total, tally) => total + tally.failed, 0)
  // A run that executed nothing has shown nothing.
  return {passed, failed: passed + failed === 0 ? 1 : failed, notes: tallies.flatMap(tally => tally.notes)}
}

export function closingLine({passed, failed}) {
  return `${passed} passed, ${failed} failed`
}
