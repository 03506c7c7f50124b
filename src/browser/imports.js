// What the compiled checker asks of its worker; web/worker.js has `receive` and `progress`.
mergeInto(LibraryManager.library, {
  browser_bytes: function (bytes, size) {
    receive(HEAPU8.slice(bytes >>> 0, (bytes >>> 0) + size));
  },
  browser_progress: function (stage, unit, done, total, level, levelsDecided, levelsTotal) {
    progress(UTF8ToString(stage), UTF8ToString(unit), done, total, level ? UTF8ToString(level) : "", levelsDecided, levelsTotal);
  },
  browser_random: function (bytes, size) {
    crypto.getRandomValues(HEAPU8.subarray(bytes >>> 0, (bytes >>> 0) + size));
  },
});
