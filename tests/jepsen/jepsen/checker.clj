(ns jepsen.checker
  "Stands in for Jepsen, which the tests do not have: the protocol of its checkers, with the same name and arguments.")

(defprotocol Checker
  (check [checker test history opts]))
