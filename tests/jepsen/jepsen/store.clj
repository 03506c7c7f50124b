(ns jepsen.store
  "Stands in for Jepsen, which the tests do not have: where the files of a test go, with the same name and arguments."
  (:require [clojure.java.io :as io]))

(defn path! [test & args]
  (let [file (apply io/file (:store test) (filter some? (flatten args)))]
    (io/make-parents file)
    file))
